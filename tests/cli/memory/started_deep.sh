# A program with a path of more than 511 bytes that is started without the library is named too.
heap-program || exit
printf 'int main(void) { return 0; }\n' >main.c
part=$(printf 'd%.0s' $(seq 200))
mkdir -p $part/$part/$part && cc main.c -o $part/$part/$part/other || exit
deepclock memory --quiet --save run.json -- sh -c "env -i ./$part/$part/$part/other; true" >out 2>err || cat out err
record run.json '[n["text"].split(";")[0] for n in r["notes"] if n["code"] == "programs-not-recorded"]'
