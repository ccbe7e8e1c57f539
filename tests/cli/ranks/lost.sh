# What happens to a rank costs its own part only: one never starts, one is killed, one's program fails.
ranks-program || exit
cat > each.sh <<'END'
until [ -e go ]; do
	sleep 0.05
done
exit $((RANK == 1 ? 3 : 0))
END
(
	until [ -s deepclock.2 ]; do
		sleep 0.05
	done
	kill -KILL "$(cat deepclock.2)"
	touch go.1
	until [ -e exit.1 ]; do
		sleep 0.05
	done
) &
cat > rank.sh <<'END'
case $RANK in
0) deepclock ranks --wait 100ms --no-history --save run.json -- sh -c 'until [ -e exit.1 ]; do sleep 0.05; done' ;;
1) until [ -e go.1 ]; do sleep 0.05; done; touch go; exec deepclock ranks -- sh each.sh ;;
2) echo $$ > pid.2; mv pid.2 deepclock.2; exec deepclock ranks -- sh each.sh ;;
esac
END
RANKS="0 1 2" ranks-job 4 sh rank.sh
wait
cat exit.0 err.0 exit.1 err.1
record run.json 'r["incomplete"]' '[row[0] for row in t("ranks")["rows"]]' 'sorted(n["code"] for n in r["notes"] if n["code"].startswith("ranks-"))' \
	't("ranks")["rows"][1][-1]' 't("ranks")["rows"][3][-1]' 'f("job", "straggler")'
sed -n 2p out.0
