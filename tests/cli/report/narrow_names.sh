# Names of C++ in the answer and its table: within the width, without parameters and arguments of templates; whole in the details.
it='__gnu_cxx::__normal_iterator<unsigned int*, std::vector<unsigned int, std::allocator<unsigned int> > >'
less='__gnu_cxx::__ops::_Iter_less_iter'
printf 'main;std::__unguarded_partition<%s, %s>(%s, %s) 5\nmain;%s::operator++() 3\n' "$it" "$less" "$it" "$less" "$it" >run.folded
for columns in 60 80 120; do
	COLUMNS=$columns deepclock report run.folded >text
	awk -v most=$columns 'length > most { print "long line: " $0 }' text
	cat text
done
deepclock report run.folded --format csv | grep -c '<unsigned int\*, std::vector<unsigned int, std::allocator<unsigned int> > >::operator++()'
deepclock report run.folded --details | grep -c 'std::vector<unsigned int, std::allocator<unsigned int> > >::operator++()'
