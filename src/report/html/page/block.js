// block.js - the data that C embeds in the page: JSON, or bytes, compressed if large.
//
// SPDX-License-Identifier: Apache-2.0

async function bytesOf(script) {
	const packed = Uint8Array.from(atob(script.textContent.trim()), c => c.charCodeAt(0));

	if (script.dataset.encoding !== "gzip")
		return packed;
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser is too old to unpack the data (it needs DecompressionStream, of 2023)");
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Returns the block of an id: its parsed JSON, or a Uint8Array; null: none. */
export async function readBlock(id) {
	const script = document.getElementById(id);

	if (!script)
		return null;
	if (!script.dataset.encoding)
		return JSON.parse(script.textContent);
	const bytes = await bytesOf(script);
	return script.type === "application/json" ? JSON.parse(new TextDecoder().decode(bytes)) : bytes;
}
