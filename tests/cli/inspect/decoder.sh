# The sizes of a decoder's cache: its head size follows from the attention's attributes, and the mask covers the
# past and the new tokens, whichever of the two is given.
onnx-model decoder.onnx <<'END'
input x batch_sizexsequence_lengthx128
input mask batch_sizextotal_sequence_length
input past.k batch_sizex2xpast_sequence_lengthxkv_cache_dim
input past.v batch_sizex2xpast_sequence_lengthxkv_cache_dim
weight lengths 1
weight total 1
output y
output present.k batch_sizex2xtotal_sequence_lengthxkv_cache_dim
output present.v batch_sizex2xtotal_sequence_lengthxkv_cache_dim
output m
node GroupQueryAttention x,-,-,past.k,past.v,lengths,total y,present.k,present.v gqa com.microsoft num_heads=4,kv_num_heads=2
node Identity mask m
END
for sizes in "" "--batch 2 --dim sequence_length=128" "--dim past_sequence_length=0 --dim kv_cache_dim=16"; do
	deepclock inspect decoder.onnx $sizes | grep '^next'
done
# What grows is a cache by the graph, whatever its sizes are called: one new token after the past.
for names in "s p t" "seq past past+1" "seq past past+seq" "seq_len past_len total_len"; do
	set -- $names
	onnx-model grown.onnx << END
input ids bx$1 int64
input mask bx$3 int64
input past bx$2x2x8
weight table 50x2x8
output present bx$3x2x8
output m
node Gather table,ids key gather
node Concat past,key present concat ai.onnx axis=1
node Cast mask m cast ai.onnx to=1
END
	deepclock inspect grown.onnx | grep '^next'
done
deepclock inspect grown.onnx --dim total_len=40 | grep '^next'
