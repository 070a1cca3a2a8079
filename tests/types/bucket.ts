// What the services' own packages declare goes into the adapters as it is. Checked by the compiler.

import type { DurableObjectStorage, R2Bucket } from "@cloudflare/workers-types";
import { getStore } from "@netlify/blobs";
import * as blob from "@vercel/blob";
import {
  type Bucket,
  type BucketPort,
  customBucket,
  durableBucket,
  netlifyBlobs,
  r2,
  s3,
  vercelBlob,
} from "../../js/src/bucket.js";

export function bucketsOf(env: { BUCKET: R2Bucket }, storage: DurableObjectStorage): Bucket[] {
  return [
    r2(env.BUCKET, { prefix: "agents" }),
    durableBucket(storage),
    netlifyBlobs(getStore({ name: "agents", consistency: "strong" })),
    vercelBlob(blob, { token: "secret" }),
    // As the AWS SDK's providers are.
    s3({
      bucket: "agents",
      region: "eu-central-1",
      credentials: async () => ({
        accessKeyId: "id",
        secretAccessKey: "secret",
        sessionToken: "session",
        expiration: new Date(),
      }),
    }),
  ];
}

class Files implements BucketPort {
  async get(): Promise<Uint8Array | undefined> {
    return undefined;
  }
  async create(): Promise<boolean> {
    return true;
  }
  async list(): Promise<string[]> {
    return [];
  }
  async delete(): Promise<void> {}
}

export const own: Bucket = customBucket(new Files(), "our files");

// @ts-expect-error a name of none of its options
export const wrong = (env: { BUCKET: R2Bucket }) => r2(env.BUCKET, { folder: "agents" });
