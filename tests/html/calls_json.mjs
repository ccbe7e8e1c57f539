// SPDX-License-Identifier: Apache-2.0
// The page's results on call paths, as JSON, to be compared with the output of `deepclock report`:
//   calls_json.mjs RECORD.json [FUNCTION]
//   calls_json.mjs --diff A.json B.json [normalise]
import fs from "node:fs";
import { calleeRows, callerRows, functionRows, mainWeight, openTree, placeOf } from "../../src/report/html/page/calltree.js";
import { diffFunctions, diffPaths, mergeTrees } from "../../src/report/html/page/calldiff.js";

const words = process.argv.slice(2);
const tree = path => JSON.parse(fs.readFileSync(path, "utf8")).trees[0];

function look(path, name) {
	const c = openTree(tree(path)), k = mainWeight(c.columns), at = c.functions.findIndex(f => f.name === name);
	const plain = rows => rows.map(r => ({ name: r.fn.name, file: r.fn.file, line: r.fn.start_line || r.fn.line, module: r.fn.module, self: r.self[k], total: r.total[k], place: placeOf(r.fn) }));

	return { weight: c.columns[k].key, functions: plain(functionRows(c)), callers: at < 0 ? [] : plain(callerRows(c, at)), callees: at < 0 ? [] : plain(calleeRows(c, at)) };
}

function diff(a, b, how) {
	const [t, u] = [tree(a), tree(b)], c = mergeTrees(t, mainWeight(t.columns), u, mainWeight(u.columns), how === "normalise");
	const cells = (name, r) => [name, r.self, r.selfShare, r.selfA, r.selfB, r.total, r.totalShare, r.totalA, r.totalB, r.state];

	return { "diff/functions": diffFunctions(c).map(r => cells(r.fn.name, r)), "diff/paths": diffPaths(c, Infinity).rows.map(r => cells(r.path, r)) };
}

process.stdout.write(JSON.stringify(words[0] === "--diff" ? diff(...words.slice(1)) : look(...words)));
