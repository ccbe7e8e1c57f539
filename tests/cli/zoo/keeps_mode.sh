# Replacing a file preserves its mode, whichever option names it; a new file has the mode of umask; no temporary file
# remains. A read-only file is not replaced.
umask 027
deepclock zoo simplenet -o new.onnx
stat -c '%a %n' new.onnx
for file in n.onnx r.json out.txt page.html; do
	echo old > $file
	chmod 604 $file
done
deepclock zoo simplenet -o n.onnx
deepclock cost zoo:simplenet --save r.json --out out.txt --quiet
deepclock report r.json --format html -o page.html
stat -c '%a %n' n.onnx r.json out.txt page.html
ls
