# The preloaded library has no dependency that could conflict with a library of the program.
zone-program waits || exit
deepclock trace -o cat.pftrace -- cat /proc/self/maps > maps 2> err
grep -o 'libdeepclock.*\.so' maps | sort -u
grep -cE 'libsqlite|libjansson|libz\.|libgcc_s|libstdc' maps
rm program
zone-program brings || exit
deepclock trace --format csv -- ./program | grep -oE 'its own library|zones/wait: sleep/calls",1'
