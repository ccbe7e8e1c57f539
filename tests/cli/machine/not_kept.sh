# heavy
# A cache directory that cannot be written produces a note.
XDG_CACHE_HOME=/dev/null deepclock machine --quiet --keep --format json > run.json
echo $?
record run.json 'note("not-cached")["severity"]' '"/dev/null" in note("not-cached")["text"]' 'r["incomplete"]'
