deepclock engines ort --engine-lib ./missing.so --format csv | grep usable
deepclock engines ort --engine-lib ./missing.so --format csv | grep -c why_not
