// The server of @netlify/blobs over a folder, in a process of its own: it asks whether errors are
// Node's, which those of a test's realm are not.

import { BlobsServer } from "@netlify/blobs/server";

const [directory, token] = process.argv.slice(2);
const { address } = await new BlobsServer({ directory, token }).start();
console.log(`at ${address}`);
