/* file_type.c - file type detection by magic numbers, as file(1) does, for files that are not ONNX
 * models.
 *
 * It only improves a message: a reader has failed already, and its error is replaced if the file
 * is recognised, by a message with the type of the file and what to do. The order of tests is from
 * certain to vague: the first name in a ZIP archive, the header of safetensors, then magics[] from
 * specific to general, then tar, whose mark is at 257. The extension of the name decides if the
 * bytes are unknown, or are a container or a format of many uses (ZIP, pickle, a web page).
 * begins_well states that the bytes began as a model does, so they are not examined.
 *
 * At most 64 bytes and then 5 are read, through the source's window; nothing is allocated. Lengths
 * in the file are checked against the bytes that were read.
 *
 * Sources: APPNOTE.TXT of ZIP, RFC 1952 (gzip), https://github.com/huggingface/safetensors
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/file_type.h"
#include "base/err.h"

#include <string.h>

typedef struct file_kind {
	const char *is, *remedy;
} file_kind;

static const file_kind torch = {
    "a file of PyTorch", "export the model with torch.onnx.export(model, inputs, 'model.onnx')"};
static const file_kind tflite = {
    "a TensorFlow Lite model",
    "--engine litert or openvino runs it, and python -m tf2onnx.convert --tflite MODEL --output model.onnx "
    "makes one of it"};
static const file_kind tensorflow = {
    "a graph of TensorFlow",
    "python -m tf2onnx.convert --saved-model DIR --output model.onnx makes one of its directory"};
static const file_kind keras = {
    "a file of Keras", "load it in Keras and write model.export('model.onnx', format='onnx')"};
static const file_kind hdf5 = {
    "an HDF5 file", "if Keras wrote it, load it there and write model.export('model.onnx', "
		    "format='onnx')"};
static const file_kind safetensors = {
    "weights without their network (safetensors)",
    "export the model, as with optimum-cli export onnx --model DIR OUT"};
static const file_kind gguf = {
    "a GGUF model of llama.cpp",
    "export the model that it was made of, or time llama.cpp as a program "
    "(deepclock bench -- llama-bench -m MODEL)"};
static const file_kind trt = {
    "an engine of TensorRT",
    "it is tied to one GPU and one TensorRT: give the ONNX file that it was built from"};
static const file_kind openvino = {
    "a model of OpenVINO",
    "--engine openvino runs it; or give the ONNX file that it was made from"};
static const file_kind coreml = {"a model of Core ML",
				 "give the ONNX file or export its source again"};
static const file_kind paddle = {
    "a model of PaddlePaddle",
    "paddle2onnx --model_dir DIR --save_file model.onnx makes one of it"};
static const file_kind ncnn = {"a model of ncnn", "give the ONNX file that it was made from"};
static const file_kind caffe = {"a model of Caffe", "export its source to ONNX"};
static const file_kind mnn = {"a model of MNN", "give the ONNX file that it was made from"};
static const file_kind ort = {"in ONNX Runtime's own format (.ort)", "give the .onnx file"};
static const file_kind pickle = {"a pickled Python object",
				 "export it to ONNX (torch.onnx.export, skl2onnx)"};
static const file_kind weights = {"a file of weights", "give the .onnx file that refers to it"};
static const file_kind arrays = {"an array of NumPy", "it may be an input's values (--input)"};
static const file_kind record = {"JSON",
				 "a record that --save wrote is shown by 'deepclock report'"};
static const file_kind python = {"a program in Python",
				 "to time it write: deepclock bench -- python3 PROGRAM"};
static const file_kind lfs = {"a pointer of Git LFS", "run 'git lfs pull'"};
static const file_kind page = {"a web page", "download the file itself"};
static const file_kind zip = {"a ZIP archive", "unpack it and give the .onnx file"};
static const file_kind packed = {"a packed file", "unpack it and give the .onnx file"};

/* Magic numbers: the certain ones first. */
static const struct magic {
	size_t at;
	const char *bytes;
	const file_kind *kind;
} magics[] = {
    {4, "ORTM", &ort},
    {4, "TFL3", &tflite},
    {0, "GGUF", &gguf},
    {0, "ftrt", &trt},
    {0, "ptrt", &trt},
    {0, "version https://git-lfs", &lfs},
    {0, "\211HDF", &hdf5},
    {0, "\223NUMPY", &arrays},
    {0, "7767517\n", &ncnn},
    {0, "\200\002\212\012l\374\234F\371 j\250P\031.", &torch},
    {0, "\200\002", &pickle},
    {0, "\200\003", &pickle},
    {0, "\200\004\225", &pickle},
    {0, "\200\005\225", &pickle},
    {0, "\037\213", &packed},
    {0, "BZh", &packed},
    {0, "\3757zXZ", &packed},
    {0, "\050\265\057\375", &packed},
    {0, "7z\274\257", &packed},
    {0, "<?xml", &openvino},
    {0, "<net", &openvino},
    {0, "<", &page},
};

/* Extensions of names, for files whose bytes do not decide. */
static const struct ending {
	const char *end;
	const file_kind *kind;
} endings[] = {
    {".onnx.data", &weights},
    {".onnx_data", &weights},
    {".data", &weights},
    {".weight", &weights},
    {".weights", &weights},
    {".pt", &torch},
    {".pth", &torch},
    {".pt2", &torch},
    {".ptl", &torch},
    {".torchscript", &torch},
    {".ckpt", &torch},
    {".tflite", &tflite},
    {".lite", &tflite},
    {".pb", &tensorflow},
    {".pbtxt", &tensorflow},
    {".keras", &keras},
    {".h5", &hdf5},
    {".hdf5", &hdf5},
    {".safetensors", &safetensors},
    {".gguf", &gguf},
    {".ggml", &gguf},
    {".engine", &trt},
    {".plan", &trt},
    {".trt", &trt},
    {".xml", &openvino},
    {".blob", &openvino},
    {".bin", &weights},
    {".mlmodel", &coreml},
    {".mlpackage", &coreml},
    {".pdmodel", &paddle},
    {".pdiparams", &paddle},
    {".pdparams", &paddle},
    {".param", &ncnn},
    {".caffemodel", &caffe},
    {".prototxt", &caffe},
    {".mnn", &mnn},
    {".pkl", &pickle},
    {".joblib", &pickle},
    {".npy", &arrays},
    {".npz", &arrays},
    {".json", &record},
    {".py", &python},
    {".ipynb", &python},
    {".zip", &zip},
    {".tar", &packed},
    {".tgz", &packed},
};

/* Whether it begins as safetensors: the length of the header in 8 bytes, below 16 MiB, and then a
 * JSON object. */
static bool is_safetensors(const uint8_t *p, size_t n)
{
	return n > 10 && p[3] == 0 && p[4] == 0 && p[5] == 0 && p[6] == 0 && p[7] == 0 &&
	       p[8] == '{' && p[9] == '"';
}

static bool foreign_ends_in(const char *text, size_t n, const char *end)
{
	const size_t k = strlen(end);

	return n >= k && memcmp(text + n - k, end, k) == 0;
}

static bool foreign_holds(const char *text, size_t n, const char *part)
{
	for (size_t i = 0, k = strlen(part); i + k <= n; i++)
		if (memcmp(text + i, part, k) == 0)
			return true;
	return false;
}

/* Classifies a ZIP archive by its first name: local file header, name at 30, its length at 26
 * (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7). */
static const file_kind *zip_kind(const uint8_t *p, size_t n)
{
	const char *name = (const char *)p + 30;
	size_t length;

	if (n < 4 || memcmp(p, "PK\003\004", 4) != 0)
		return NULL;
	length = n > 30 ? p[26] + 256u * p[27] : 0;
	if (length > n - 30)
		length = n > 30 ? n - 30 : 0;
	if (foreign_holds(name, length, "data.pkl") ||
	    foreign_holds(name, length, "archive_format") ||
	    foreign_holds(name, length, "byteorder") ||
	    foreign_holds(name, length, ".format_version"))
		return &torch;
	if (foreign_ends_in(name, length, ".npy"))
		return &arrays;
	return foreign_ends_in(name, length, "metadata.json") ? &keras : &zip;
}

static const file_kind *by_bytes(wire_source *s)
{
	const uint8_t *p;
	const file_kind *found;
	size_t n;

	if (wire_source_peek(s, 0, 64, &p, &n, NULL) != DCK_OK)
		return NULL;
	found = zip_kind(p, n);
	if (!found && is_safetensors(p, n))
		found = &safetensors;
	for (size_t i = 0; !found && i < sizeof magics / sizeof magics[0]; i++) {
		const struct magic *m = &magics[i];
		const size_t len = strlen(m->bytes);

		if (n >= m->at + len && memcmp(p + m->at, m->bytes, len) == 0)
			found = m->kind;
	}
	if (!found && s->size > 262 && wire_source_peek(s, 257, 5, &p, &n, NULL) == DCK_OK &&
	    n == 5 && memcmp(p, "ustar", 5) == 0)
		found = &packed;
	return found;
}

static const file_kind *by_ending(const char *path)
{
	for (size_t i = 0; path && i < sizeof endings / sizeof endings[0]; i++)
		if (foreign_ends_in(path, strlen(path), endings[i].end))
			return endings[i].kind;
	return NULL;
}

dck_status file_type_describe(wire_source *s, const char *path, bool begins_well, dck_status code,
			      dck_err *err)
{
	const file_kind *bytes = begins_well ? NULL : by_bytes(s);
	const file_kind *found = bytes;

	/* The extension is more specific than a container, a pickle or a web page. */
	if (!found || found == &zip || found == &pickle || found == &page)
		found = by_ending(path);
	if (!found)
		found = bytes;
	if (!found)
		return code;
	/* The engine may read ONNX Runtime's own format, so it is not malformed. */
	return err_set(err, found == &ort ? DCK_E_UNSUP : DCK_E_FORMAT, __FILE__, __LINE__,
		       "%s is %s, not an ONNX model: %s", s->label, found->is, found->remedy);
}
