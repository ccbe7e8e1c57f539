need-ort || exit 77
deepclock engines ort --format csv | grep -e usable -e provider/cpu
