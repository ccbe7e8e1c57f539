# Credentials are sent, and are in no output, record or message, also where the server repeats them.
printf 'Authorization: Bearer hush-hush\nX-Team: red\n' > headers
secret() {
	grep -l hush-hush text err run.json 2> /dev/null
	cut -d' ' -f3- log | sort -u
	rm -f log run.json
}
ask="--url URL/v1/completions --model m --rate 40 --requests 20 --new-tokens 4 --save run.json --details"
with-server log=log every=3 fail=429 -- deepclock load $ask --header-file headers > text 2> err
echo $?
record run.json 'note("requests-failed")["text"].split("the first: ")[1]' 'f("plan", "header-file")'
secret
with-server log=log fail=429 -- deepclock load $ask --header-file headers > text 2> err
echo $?
cat err
secret
export DEEPCLOCK_API_KEY=hush-hush
with-server log=log every=2 fail=error -- deepclock load $ask > text 2> err
echo $?
record run.json 'note("requests-failed")["text"].split("the first: ")[1]'
secret
# Headers of the answer may repeat them, too.
with-server log=log every=2 fail=redirect -- deepclock load $ask > text 2> err
record run.json 'note("requests-failed")["text"].split("the first: ")[1]'
secret
with-server log=log every=2 fail=json -- deepclock load $ask > text 2> err
record run.json 'note("requests-failed")["text"].split("the first: ")[1]'
secret
# One header of a name.
with-server -- deepclock load $ask --header-file headers 2>&1
echo $?
