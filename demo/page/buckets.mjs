// What only two devices need: fetched when they are looked at, so that the page begins without it.
export { httpBucket } from "keepsake/bucket";
