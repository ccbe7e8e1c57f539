# Interrupted before there is anything to report.
cat > work <<'END'
#!/bin/sh
echo x > begun
exec sleep 30
END
chmod +x work
interrupt SIGINT begun deepclock bench --quiet --save run.json -- ./work
echo $?
ls
