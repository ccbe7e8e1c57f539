/* device_kernels.c - the table of kernels, one row for each language (device_kernels.h).
 *
 * Peaks: four vectors of accumulators, 64 numbers of FP32. On a GPU a vector is that number of
 * registers of a work item, so that 64 independent chains hide the latency with few warps; on a
 * processor with AVX2 it is eight registers, which two units of latency four need (Fog, Instruction
 * tables). a = a x m + c with |m| < 1 converges, so no number becomes infinite or denormal. The
 * factors are derived from the work item, so that the compiler cannot compute them.
 *
 * INT8: dot products of four 8-bit integers, added to 32 bits (NVIDIA's dp4a, cl_khr_integer_dot_
 * product), where the device offers them; elsewhere OpenCL multiplies and adds in 32 bits, as a
 * program would have to. A dot product has its own sum as a factor, so that it stays in the loop.
 *
 * Matrices: PTX's mma, a product of 16 x 8 by a warp (sm_80); its factors are small, so that the
 * sums stay finite. Hopper's wgmma is faster; it is not used, because it needs shared memory.
 *
 * Memory: a work item accesses 16 bytes at a time, the widest access of a GPU's work item. The sum
 * of a read is written once, so that reading is not optimised away; four independent accesses in
 * each turn of the loop keep several on their way, and four sums do not wait for each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/roofline/device_kernels.h"

#include <stddef.h>
#include <string.h>

/* FP_CONTRACT lets the compiler fuse x * m + c. fma() would be a function call where the device has
 * no such instruction, and in PoCL, which passes vectors of 64 bytes to it in memory. */
#define OPENCL_PEAK(extension, real, vector)                                                      \
	extension "#pragma OPENCL FP_CONTRACT ON\n"                                               \
		  "kernel void work(global " vector " *out, uint n)\n"                            \
		  "{\n"                                                                           \
		  "	const size_t id = get_global_id(0);\n"                                        \
		  "	const " vector " m = (" real ")0.5 + (" real ")(id & 15) / 64;\n"         \
		  "	const " vector " c = (" real ")1 - m;\n"                                  \
		  "	" vector " p = (" real ")2, q = (" real ")3, r = (" real ")4, s = (" real \
		  ")5;\n"                                                                         \
		  "	for (uint i = 0; i < n; i++) {\n"                                             \
		  "		p = p * m + c;\n"                                                            \
		  "		q = q * m + c;\n"                                                            \
		  "		r = r * m + c;\n"                                                            \
		  "		s = s * m + c;\n"                                                            \
		  "	}\n"                                                                          \
		  "	out[id] = p + q + r + s;\n"                                                   \
		  "}\n"

/* Both have 128 operations a step: 16 sums of a dot product, or four vectors of 16 products. */
#define OPENCL_INT8                                                                         \
	"kernel void work(global uint16 *out, uint n)\n"                                    \
	"{\n"                                                                               \
	"	const uint id = get_global_id(0), m = 0x01030507u + (id & 15);\n"                 \
	"#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed\n"                       \
	"#define DOT(v) v = (uint)dot_4x8packed_ss_int(v, m) + v;\n"                        \
	"	uint a = id, b = id + 1, c = id + 2, d = id + 3, e = id + 4, f = id + 5,\n"       \
	"	     g = id + 6, h = id + 7, i = id + 8, j = id + 9, k = id + 10, l = id + 11,\n" \
	"	     o = id + 12, p = id + 13, q = id + 14, r = id + 15;\n"                       \
	"	for (uint t = 0; t < n; t++) {\n"                                                 \
	"		DOT(a) DOT(b) DOT(c) DOT(d) DOT(e) DOT(f) DOT(g) DOT(h)\n"                       \
	"		DOT(i) DOT(j) DOT(k) DOT(l) DOT(o) DOT(p) DOT(q) DOT(r)\n"                       \
	"	}\n"                                                                              \
	"	out[id] = (uint16)(a, b, c, d, e, f, g, h, i, j, k, l, o, p, q, r);\n"            \
	"#else\n"                                                                           \
	"	uint16 p = id, q = id + 1, r = id + 2, s = id + 3;\n"                             \
	"	for (uint t = 0; t < n; t++) {\n"                                                 \
	"		p = p * m + id;\n"                                                               \
	"		q = q * m + id;\n"                                                               \
	"		r = r * m + id;\n"                                                               \
	"		s = s * m + id;\n"                                                               \
	"	}\n"                                                                              \
	"	out[id] = p + q + r + s;\n"                                                       \
	"#endif\n"                                                                          \
	"}\n"

#define OPENCL_MEMORY(before, step, after)                                                       \
	"kernel void work(global const float4 *a, global float4 *b, global float4 *c, uint n)\n" \
	"{\n"                                                                                    \
	"	const size_t size = get_local_size(0);\n"                                              \
	"	size_t i = get_group_id(0) * n * size + get_local_id(0);\n" before               \
	"	for (uint k = 0; k < n; k += 4, i += 4 * size) {\n" step(0) step(1) step(2)      \
	    step(3) "	}\n" after "}\n"
#define STEP_READ(k) "		s" #k " += a[i + " #k " * size];\n"
#define STEP_COPY(k) "		b[i + " #k " * size] = a[i + " #k " * size];\n"
#define STEP_TRIAD(k)                                                                   \
	"		b[i + " #k " * size] = a[i + " #k " * size] + 3.0f * c[i + " #k \
	" * size];\n"

/* PTX (NVIDIA, Parallel Thread Execution ISA). A step is one multiply and add of each of 12
 * accumulators; a turn of the loop is 8 steps, of which every number of steps is a multiple, so
 * that the loop's own instructions are 3 of 99. Accumulators begin with different values, since
 * chains that are equal would be computed once. x is the factor m, y is 1 - m. */
#define PTX_HEAD_OF(version, target, parameters) \
	".version " version "\n.target " target  \
	"\n.address_size 64\n.visible .entry work(" parameters ")\n{\n"
#define PTX_HEAD(target, parameters) PTX_HEAD_OF("6.0", target, parameters)
#define PTX_ALL(X)		     X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PTX_TURN(X) \
	PTX_ALL(X) PTX_ALL(X) PTX_ALL(X) PTX_ALL(X) PTX_ALL(X) PTX_ALL(X) PTX_ALL(X) PTX_ALL(X)
#define PTX_THREAD                                                    \
	"mov.u32 id,%ctaid.x;mov.u32 k,%ntid.x;mov.u32 low,%tid.x;\n" \
	"mad.lo.u32 id,id,k,low;\n"
#define PTX_PEAK(version, target, registers, factors, begin, fma, sum, store)                  \
	PTX_HEAD_OF(version, target, ".param .u64 out,.param .u32 steps")                      \
	".reg .u32 id,k,n,low;.reg .u64 p;.reg .pred q;.reg .f32 x,y;.reg .b16 h;\n" registers \
	"\nld.param.u64 p,[out];ld.param.u32 n,[steps];\n" PTX_THREAD                          \
	"mad.wide.u32 p,id,64,p;and.b32 low,id,15;cvt.rn.f32.u32 x,low;\n"                     \
	"fma.rn.f32 x,x,0f3C800000,0f3F000000;mov.f32 y,0f3F800000;sub.f32 y,y,x;\n" factors   \
	"\n" PTX_ALL(begin) "mov.u32 k,0;\nturn:\n" PTX_TURN(                                  \
	    fma) "\nadd.u32 k,k,8;setp.lt.u32 q,k,n;@q bra turn;\n" PTX_ALL(sum) store         \
	    "\nret;\n}\n"

#define PTX_F32_BEGIN(i) "add.u32 k,low," #i ";cvt.rn.f32.u32 a" #i ",k;\n"
#define PTX_F32_FMA(i)	 "fma.rn.f32 a" #i ",a" #i ",x,y;"
#define PTX_F32_SUM(i)	 "add.f32 x,x,a" #i ";"
#define PTX_F64_BEGIN(i) "add.u32 k,low," #i ";cvt.rn.f64.u32 a" #i ",k;\n"
#define PTX_F64_FMA(i)	 "fma.rn.f64 a" #i ",a" #i ",m,c;"
#define PTX_F64_SUM(i)	 "add.f64 m,m,a" #i ";"
#define PTX_F16_BEGIN(i) "add.u32 k,low," #i ";cvt.rn.f16.u32 h,k;mov.b32 a" #i ",{h,h};\n"
#define PTX_F16_FMA(i)	 "fma.rn.f16x2 a" #i ",a" #i ",m,c;"
#define PTX_F16_SUM(i)	 "add.f16x2 m,m,a" #i ";"

#define PTX_BF16_BEGIN(i) "add.u32 k,low," #i ";cvt.rn.f32.u32 g,k;" PTX_BF16_PAIR(a##i, g)
/* The upper half of an FP32 is the number in BF16. */
#define PTX_BF16_PAIR(to, f) "mov.b32 {l,h}," #f ";mov.b32 " #to ",{h,h};\n"
#define PTX_BF16_FMA(i)	     "fma.rn.bf16x2 a" #i ",a" #i ",m,c;"
#define PTX_BF16_SUM(i)	     "fma.rn.bf16x2 m,a" #i ",c,m;"
#define PTX_INT8_BEGIN(i)    "add.u32 a" #i ",low," #i ";"
#define PTX_INT8_DOT(i)	     "dp4a.s32.s32 a" #i ",a" #i ",m,a" #i ";"
#define PTX_INT8_SUM(i)	     "add.u32 m,m,a" #i ";"

/* Four numbers of a thread are its part of a sum of 16 x 8; a and b hold the factors. A turn is one
 * step, since an instruction takes several cycles. */
#define PTX_MATRIX(type, factor, begin, product, sum)                                             \
	PTX_HEAD_OF("7.0", "sm_80", ".param .u64 out,.param .u32 steps")                          \
	".reg .u32 id,k,n,low;.reg .u64 at;.reg .pred w;.reg .b32 a,b;.reg ." type                \
	" x,p<12>,q<12>,r<12>,s<12>;\n"                                                           \
	"ld.param.u64 at,[out];ld.param.u32 n,[steps];\n" PTX_THREAD                              \
	"mad.wide.u32 at,id,64,at;and.b32 low,id,15;or.b32 a,low," factor ";or.b32 b,low," factor \
	";\n" PTX_ALL(begin) "mov.u32 k,0;\nturn:\n" PTX_ALL(                                     \
	    product) "\nadd.u32 k,k,1;"                                                           \
		     "setp.lt.u32 w,k,n;@w bra turn;\nmov." type                                  \
		     " x,p0;\n" PTX_ALL(sum) "st.global." type " [at],x;\nret;\n}\n"
#define PTX_SUMS(i) "{p" #i ",q" #i ",r" #i ",s" #i "}"
#define PTX_MMA(kind, i) \
	"mma.sync.aligned." kind " " PTX_SUMS(i) ",{a,a,a,a},{b,b}," PTX_SUMS(i) ";"
#define PTX_MMA_FP16(i) PTX_MMA("m16n8k16.row.col.f32.f16.f16.f32", i)
#define PTX_MMA_BF16(i) PTX_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", i)
#define PTX_MMA_INT8(i) PTX_MMA("m16n8k32.row.col.s32.s8.s8.s32", i)
#define PTX_REAL_BEGIN(i)                                                                       \
	"add.u32 k,low," #i ";cvt.rn.f32.u32 p" #i ",k;mov.f32 q" #i ",0f00000000;mov.f32 r" #i \
	",q" #i ";mov.f32 s" #i ",q" #i ";\n"
#define PTX_REAL_SUM(i) \
	"add.f32 x,x,p" #i ";add.f32 x,x,q" #i ";add.f32 x,x,r" #i ";add.f32 x,x,s" #i ";\n"
#define PTX_WHOLE_BEGIN(i)                                                                        \
	"add.u32 p" #i ",low," #i ";mov.u32 q" #i ",p" #i ";mov.u32 r" #i ",p" #i ";mov.u32 s" #i \
	",p" #i ";\n"
#define PTX_WHOLE_SUM(i) \
	"add.u32 x,x,p" #i ";add.u32 x,x,q" #i ";add.u32 x,x,r" #i ";add.u32 x,x,s" #i ";\n"

/* The threads of a block access neighbouring elements of 16 bytes, four in each turn. */
#define PTX_MEMORY(before, step, after)                                                                    \
	PTX_HEAD("sm_50", ".param .u64 pa,.param .u64 pb,.param .u64 pc,.param .u32 steps")                \
	".reg .u32 id,k,n,low,size;.reg .u64 a,b,c,at,step;.reg .pred q;\n"                                \
	".reg .f32 s<4>,x<4>,y<4>;\n"                                                                      \
	"ld.param.u64 a,[pa];ld.param.u64 b,[pb];ld.param.u64 c,[pc];ld.param.u32 n,[steps];\n" PTX_THREAD \
	"mov.u32 size,%ntid.x;mul.wide.u32 step,size,16;\n"                                                \
	"mov.u32 k,%ctaid.x;mul.lo.u32 k,k,n;mad.lo.u32 k,k,size,low;mul.wide.u32 at,k,16;\n"              \
	"add.u64 a,a,at;" before "mov.u32 k,0;\nturn:\n" step step step step                               \
	"add.u32 k,k,4;setp.lt.u32 q,k,n;@q bra turn;\n" after "ret;\n}\n"
#define PTX_LOAD(to, from) "ld.global.v4.f32 {" #to "0," #to "1," #to "2," #to "3},[" from "];"
#define PTX_STORE(at)	   "st.global.v4.f32 [" at "],{x0,x1,x2,x3};"
#define PTX_READ_BEFORE	   "mov.f32 s0,0f00000000;mov.f32 s1,s0;mov.f32 s2,s0;mov.f32 s3,s0;\n"
#define PTX_READ                                                               \
	PTX_LOAD(x, "a")                                                       \
	"add.f32 s0,s0,x0;add.f32 s1,s1,x1;add.f32 s2,s2,x2;add.f32 s3,s3,x3;" \
	"add.u64 a,a,step;\n"
#define PTX_READ_AFTER	 "mad.wide.u32 b,id,16,b;st.global.v4.f32 [b],{s0,s1,s2,s3};\n"
#define PTX_COPY	 PTX_LOAD(x, "a") PTX_STORE("b") "add.u64 a,a,step;add.u64 b,b,step;\n"
#define PTX_TRIAD_ONE(i) "fma.rn.f32 x" #i ",y" #i ",0f40400000,x" #i ";"
#define PTX_TRIAD_FMA	 PTX_TRIAD_ONE(0) PTX_TRIAD_ONE(1) PTX_TRIAD_ONE(2) PTX_TRIAD_ONE(3)
#define PTX_TRIAD_NEXT	 "add.u64 a,a,step;add.u64 b,b,step;add.u64 c,c,step;\n"
#define PTX_TRIAD	 PTX_LOAD(x, "a") PTX_LOAD(y, "c") PTX_TRIAD_FMA PTX_STORE("b") PTX_TRIAD_NEXT

static const struct {
	const char *language;
	device_program program[DEVICE_WORKS];
} languages[] = {
    {"OpenCL C",
     {
	 [DEVICE_WORK_FP64] = {OPENCL_PEAK("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
					   "double", "double8"),
			       2 * 4 * 8},
	 [DEVICE_WORK_FP32] = {OPENCL_PEAK("", "float", "float16"), 2 * 4 * 16},
	 [DEVICE_WORK_FP16] = {OPENCL_PEAK("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n",
					   "half", "half16"),
			       2 * 4 * 16},
	 [DEVICE_WORK_INT8] = {OPENCL_INT8, 2 * 4 * 16},
	 [DEVICE_WORK_READ] = {OPENCL_MEMORY("	float4 s0 = 0, s1 = 0, s2 = 0, s3 = 0;\n",
					     STEP_READ,
					     "	b[get_global_id(0)] = s0 + s1 + s2 + s3;\n"),
			       16},
	 [DEVICE_WORK_COPY] = {OPENCL_MEMORY("", STEP_COPY, ""), 2 * 16},
	 [DEVICE_WORK_TRIAD] = {OPENCL_MEMORY("", STEP_TRIAD, ""), 3 * 16},
	 [DEVICE_WORK_EMPTY] = {"kernel void work(void) {}\n", 0},
     }},
    {"PTX",
     {
	 [DEVICE_WORK_FP64] = {PTX_PEAK("6.0", "sm_50", ".reg .f64 a<12>,m,c;",
					"cvt.f64.f32 m,x;cvt.f64.f32 c,y;", PTX_F64_BEGIN,
					PTX_F64_FMA, PTX_F64_SUM, "st.global.f64 [p],m;"),
			       2 * 12},
	 [DEVICE_WORK_FP32] = {PTX_PEAK("6.0", "sm_50", ".reg .f32 a<12>;", "", PTX_F32_BEGIN,
					PTX_F32_FMA, PTX_F32_SUM, "st.global.f32 [p],x;"),
			       2 * 12},
	 [DEVICE_WORK_FP16] = {PTX_PEAK("6.0", "sm_53", ".reg .b32 a<12>,m,c;",
					"cvt.rn.f16.f32 h,x;mov.b32 m,{h,h};"
					"cvt.rn.f16.f32 h,y;mov.b32 c,{h,h};",
					PTX_F16_BEGIN, PTX_F16_FMA, PTX_F16_SUM,
					"st.global.b32 [p],m;"),
			       2 * 2 * 12},
	 [DEVICE_WORK_BF16] = {PTX_PEAK("7.0", "sm_80",
					".reg .b32 a<12>,m,c;.reg .b16 l;.reg .f32 g;",
					PTX_BF16_PAIR(m, x) PTX_BF16_PAIR(c, y), PTX_BF16_BEGIN,
					PTX_BF16_FMA, PTX_BF16_SUM, "st.global.b32 [p],m;"),
			       2 * 2 * 12},
	 [DEVICE_WORK_INT8] = {PTX_PEAK("6.0", "sm_61", ".reg .u32 a<12>,m;",
					"or.b32 m,low,0x01030507;", PTX_INT8_BEGIN, PTX_INT8_DOT,
					PTX_INT8_SUM, "st.global.u32 [p],m;"),
			       2 * 4 * 12},
	 [DEVICE_WORK_FP16_MATRIX] = {PTX_MATRIX("f32", "0x20002000", PTX_REAL_BEGIN, PTX_MMA_FP16,
						 PTX_REAL_SUM),
				      12 * 2 * 16 * 8 * 16 / 32},
	 [DEVICE_WORK_BF16_MATRIX] = {PTX_MATRIX("f32", "0x3C003C00", PTX_REAL_BEGIN, PTX_MMA_BF16,
						 PTX_REAL_SUM),
				      12 * 2 * 16 * 8 * 16 / 32},
	 [DEVICE_WORK_INT8_MATRIX] = {PTX_MATRIX("u32", "0x01010101", PTX_WHOLE_BEGIN, PTX_MMA_INT8,
						 PTX_WHOLE_SUM),
				      12 * 2 * 16 * 8 * 32 / 32},
	 [DEVICE_WORK_READ] = {PTX_MEMORY(PTX_READ_BEFORE, PTX_READ, PTX_READ_AFTER), 16},
	 [DEVICE_WORK_COPY] = {PTX_MEMORY("add.u64 b,b,at;", PTX_COPY, ""), 2 * 16},
	 [DEVICE_WORK_TRIAD] = {PTX_MEMORY("add.u64 b,b,at;add.u64 c,c,at;", PTX_TRIAD, ""),
				3 * 16},
	 [DEVICE_WORK_EMPTY] = {PTX_HEAD("sm_50", "") "ret;\n}\n", 0},
     }},
    /* Of the null device, for tests. */
    {"null",
     {
	 [DEVICE_WORK_FP64] = {"work fp64", 64},
	 [DEVICE_WORK_FP32] = {"work fp32", 128},
	 [DEVICE_WORK_FP16] = {"work fp16", 256},
	 [DEVICE_WORK_INT8] = {"work int8", 512},
	 [DEVICE_WORK_READ] = {"work read", 16},
	 [DEVICE_WORK_COPY] = {"work copy", 32},
	 [DEVICE_WORK_TRIAD] = {"work triad", 48},
	 [DEVICE_WORK_EMPTY] = {"work empty", 0},
     }},
};

const device_program *device_program_find(const char *language, device_work work)
{
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (strcmp(languages[i].language, language) == 0 &&
		    languages[i].program[work].source)
			return &languages[i].program[work];
	return NULL;
}
