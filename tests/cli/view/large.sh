# Many runs are compressed in the page without loss; few runs are stored as JSON, whatever their texts are.
deepclock bench zoo:simplenet --engine null --runs 60000 --group 1 --warmup 3 --quiet --no-history --save run.json --html run.html > /dev/null
deepclock bench zoo:simplenet --engine null --runs 60 --warmup 3 --quiet --no-history --save few.json --html few.html > /dev/null
python3 - <<'END'
import base64, gzip, json, os, re
def block(page, id):
    m = re.search(r'<script id="%s" type="application/json"( data-encoding="gzip")?>(.*?)</script>' % id, page, re.S)
    return bool(m[1]), json.loads(gzip.decompress(base64.b64decode(m[2])) if m[1] else m[2])
for name in "run", "few":
    page = open(name + ".html", encoding="utf-8").read()
    packed, records = block(page, "deepclock-records")
    print(name, packed, records == [json.load(open(name + ".json"))], os.path.getsize(name + ".html") < 1 << 20)
    print(sorted(block(page, "deepclock-page")[1]))
r = json.load(open("few.json"))
r["command"] = "</script><!--<script>\u2028"
json.dump(r, open("evil.json", "w"))
END
deepclock report evil.json --format html > evil.html
# Two data blocks, two scripts; no additional closing tag.
grep -o '</script' evil.html | wc -l
grep -c 'u003c/script>' evil.html
