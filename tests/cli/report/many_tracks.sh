# A file in JSON with a thread for each of 70,000 ranges can be read after its conversion.
python3 -c '
print("[" + ",".join(f"{{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":{i},\"ts\":{i},\"dur\":5}}" for i in range(70000)) + "]")' > many.json
deepclock report many.json -o many.pftrace
deepclock report many.pftrace --format csv | grep 'f/calls'
