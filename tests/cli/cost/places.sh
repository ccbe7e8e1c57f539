# The class and the line of the model's code that each operator comes from, as PyTorch's exporter
# wrote them into the file.
model=$TESTS/../data/net_places.onnx
deepclock cost "$model" --by line
deepclock cost "$model" --by class
deepclock cost "$model" --by line --format csv | cut -d, -f1-3
deepclock cost "$model" --by class --format markdown | head -6
deepclock cost "$model" --by node --format csv | cut -d, -f1-3,20-22
# A model that tells neither.
deepclock cost zoo:simplenet --by line
deepclock cost zoo:simplenet --by class --format csv | wc -l
