# An instrumented program that is started without the library is named, and not called one that is not instrumented.
count-program || exit
printf 'int main(void) { return 0; }\n' >main.c
cc main.c -o plain && cc -finstrument-functions main.c -o counted || exit
of() {
	deepclock count --quiet --save run.json -- sh -c "$1" >out 2>err || cat out err
	record run.json '[n["text"].split(";")[0] for n in r["notes"] if n["code"] in ("programs-not-recorded", "count-none")]'
}
of 'env -i ./counted; ./plain'
of './counted; env -i ./plain'
of 'env -i ./plain; true'
