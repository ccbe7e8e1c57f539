for by in node type module; do
	deepclock cost zoo:simplenet --format csv --by $by
done
