deepclock version | sed -e 's/^built by .*/built by COMPILER/' -e '/^optimised/d' -e '/^source lines/d' -e '/^HTML/d' -e '/^engine/d'
# The engines are those of 'deepclock engines': each has its library, or the reason why not.
HOME=/ deepclock version --format json > v.json
record v.json "[row[0] for row in t('version')['rows']]" "[row[0] for row in t('version/engines')['rows']]" \
	"all(isinstance(cell, str) and cell or cell['absent'] for row in t('version/engines')['rows'] for cell in row)"
DEEPCLOCK_ORT=/no/such/library deepclock version > v.txt
grep -c '^engine ort absent: .*/no/such/library' v.txt
deepclock --version
