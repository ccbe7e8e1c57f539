deepclock engines ort --engine-lib ./missing.so --format csv | grep usable
deepclock engines ort --engine-lib ./missing.so --format csv | grep -q why_not && echo with the reason
