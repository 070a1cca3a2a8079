// Entry `keepsake/bucket`: object stores that memories can live in.

export { type AzureBlobOptions, azureBlob } from "./bucket/adapters/azure-blob.js";
export {
  type DurableBucketOptions,
  type DurableStorage,
  durableBucket,
} from "./bucket/adapters/durable.js";
export { type FolderOptions, folder } from "./bucket/adapters/folder.js";
export type { Fetch } from "./bucket/adapters/http.js";
export {
  type NetlifyBlobsOptions,
  type NetlifyStore,
  netlifyBlobs,
} from "./bucket/adapters/netlify-blobs.js";
export { type R2Binding, type R2Options, r2 } from "./bucket/adapters/r2.js";
export {
  type HttpBucketOptions,
  httpBucket,
  type ServeBucketOptions,
  serveBucket,
} from "./bucket/adapters/relay.js";
export { type S3Options, s3 } from "./bucket/adapters/s3.js";
export type { S3Credentials } from "./bucket/adapters/sigv4.js";
export {
  type VercelBlobOptions,
  type VercelBlobPackage,
  vercelBlob,
} from "./bucket/adapters/vercel-blob.js";
export { Bucket, customBucket } from "./bucket/bucket.js";
export { type BucketReport, type CheckBucketOptions, checkBucket } from "./bucket/check.js";
export {
  type LogReport,
  type LogRow,
  type ReadLogOptions,
  readLog,
} from "./bucket/log/read-log.js";
export type { BucketPort, ByteRange, ListRange } from "./bucket/port.js";
