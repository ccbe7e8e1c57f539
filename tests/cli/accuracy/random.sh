# An output of a model with random operators differs from itself: nothing is known of it, and the others are compared.
need-ort || exit 77
deepclock engines openvino --format csv | grep -q '^openvino,usable,true' || { echo "no OpenVINO here"; exit 77; }
onnx-model random.onnx <<'END'
input x 1x64
output y
output z
node RandomNormalLike x r
node Add x,r y
node Relu x z
END
deepclock accuracy --quiet random.onnx --vary engine=ort,openvino --save run.json > text
echo $?
record run.json '{row[0]: row[1] for row in t("difference/outputs")["rows"]}' 'note("outputs-not-compared")["text"]' 'f("difference", "verdict")'
onnx-model all.onnx <<'END'
input x 1x64
output y
node RandomNormalLike x y
END
deepclock accuracy --quiet all.onnx --vary engine=ort,openvino
echo $?
