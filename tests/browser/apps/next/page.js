"use client";

// Imported on the server too, where it must be harmless.
import "../main.js";

export default function Page() {
  return <p>app</p>;
}
