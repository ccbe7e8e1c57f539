/* cuda_work.cu - kernels, copies and a graph whose times it measures itself by CUDA's events, in
 * ranges of NVTX: tools/gpu_trace_check.py compares `deepclock trace --cuda` with them.
 *
 *	nvcc -O2 -o cuda_work cuda_work.cu && ./cuda_work
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

enum { LONG = 20, TINY = 20000, NODES = 8, COPIES = 10 };
static const size_t bytes = 64 << 20;

#define CHECK(call)                                                                  \
	do {                                                                         \
		const cudaError_t e = (call);                                        \
		if (e != cudaSuccess) {                                              \
			printf("skipped: %s: %s\n", #call, cudaGetErrorString(e));   \
			return 77;                                                   \
		}                                                                    \
	} while (0)

template <typename T> __global__ void spin(T *to, long long cycles)
{
	const long long from = clock64();

	while (clock64() - from < cycles)
		;
	*to = T(cycles);
}

__global__ void tiny(float *to)
{
	*to += 1;
}

__global__ void node(float *to)
{
	for (int i = 0; i < 1000; i++)
		to[i] += 1;
}

static double seconds()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
	    .count();
}

struct timer {
	cudaEvent_t a, b;
	timer() { cudaEventCreate(&a), cudaEventCreate(&b); }
	void begin(cudaStream_t s) { cudaEventRecord(a, s); }
	float end(cudaStream_t s)
	{
		float ms = 0;

		cudaEventRecord(b, s);
		cudaEventSynchronize(b);
		cudaEventElapsedTime(&ms, a, b);
		return ms;
	}
};

int main()
{
	float *device, *host;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t whole;
	double long_ms = 0, to_ms = 0, from_ms = 0;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaMallocHost(&host, bytes));
	timer t;
	spin<double><<<1, 1, 0, stream>>>((double *)device, 1000); /* loads the code */
	CHECK(cudaStreamSynchronize(stream));

	nvtxRangePushA("long");
	for (int i = 0; i < LONG; i++) {
		t.begin(stream);
		spin<float><<<1, 1, 0, stream>>>(device, 1500000);
		long_ms += t.end(stream);
	}
	nvtxRangePop();

	nvtxRangePushA("copies");
	for (int i = 0; i < COPIES; i++) {
		t.begin(stream);
		CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
		to_ms += t.end(stream);
		t.begin(stream);
		CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
		from_ms += t.end(stream);
	}
	CHECK(cudaMemsetAsync(device, 0, bytes, stream));
	CHECK(cudaStreamSynchronize(stream));
	nvtxRangePop();

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		node<<<1, 1, 0, stream>>>(device);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiateWithFlags(&whole, graph, 0));
	nvtxRangePushA("graph");
	CHECK(cudaGraphLaunch(whole, stream));
	CHECK(cudaStreamSynchronize(stream));
	nvtxRangePop();

	nvtxRangePushA("tiny");
	const double from = seconds();
	for (int i = 0; i < TINY; i++)
		tiny<<<1, 1, 0, stream>>>(device);
	const double launched = seconds();
	CHECK(cudaStreamSynchronize(stream));
	const double ended = seconds();
	nvtxRangePop();

	printf("{\"long\": %d, \"long_ms\": %.6f, \"to_ms\": %.6f, \"from_ms\": %.6f, "
	       "\"copies\": %d, \"bytes\": %zu, \"nodes\": %d, \"tiny\": %d, "
	       "\"tiny_launch_s\": %.6f, \"tiny_s\": %.6f}\n",
	       LONG, long_ms, to_ms, from_ms, COPIES, bytes, NODES, TINY, launched - from,
	       ended - from);
	return 0;
}
