# The peak has a time after the start also where the program ends before deepclock runs again.
zone-program zone || exit # not under a sanitizer
for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	deepclock memory --no-history -- sh -c : 2>/dev/null | grep 'peak heap'
done >out
grep -c 'peak heap' out
grep -c 'at 0 ns' out
