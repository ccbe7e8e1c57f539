# Calls in Python that are deeper than a slot holds: the fact, and the note.
zone-program zone || exit # not under a sanitizer
cat > deep.py <<'END'
def leaf(n):
    return sum(i for i in range(n))
def deep(calls, n):
    return deep(calls - 1, n) if calls else leaf(n)
for _ in range(40):
    deep(300, 200000)
END
for calls in 300 30; do
	sed -i "s/deep([0-9]*, /deep($calls, /" deep.py
	deepclock sample --quiet --source timer --save run.json -- python3 deep.py >/dev/null || echo $?
	record run.json 'note("sample-cut") is not None' 'f("sample", "stacks_truncated") > 0'
done
