// The two things that are faked: time, and embeddings.

import type { EmbeddingFunctionUnderTest, EmbeddingsUnderTest, StoreCaseOptions } from "./types.js";

/** Stands still until it is moved. */
export class ManualClock {
  private milliseconds = Date.UTC(2030, 0, 1);

  readonly now = (): number => this.milliseconds;

  advanceMs(milliseconds: number): void {
    this.milliseconds += milliseconds;
  }

  advanceMinutes(minutes: number): void {
    this.advanceMs(minutes * 60_000);
  }
}

const COLOURS = ["red", "green", "blue"] as const;

/**
 * One dimension per colour: how often its word occurs, and "-red" counts −1.
 * So "red" and "red green" have a cosine of √½, and "red" and "blue" of 0. A text of no
 * colour is unlike them all: no model answers with zeros.
 */
export class ColourEmbeddings implements EmbeddingsUnderTest {
  static readonly dims = COLOURS.length;
  /** The texts of each call of embedDocuments. */
  readonly documentCalls: string[][] = [];
  readonly queryCalls: string[] = [];

  async embedDocuments(texts: string[]): Promise<number[][]> {
    this.documentCalls.push([...texts]);
    return texts.map(colourVector);
  }

  async embedQuery(text: string): Promise<number[]> {
    this.queryCalls.push(text);
    return colourVector(text);
  }
}

export function colourVector(text: string): number[] {
  const words = text.match(/-?[a-z]+/g) ?? [];
  const vector = COLOURS.map(
    (colour) =>
      words.filter((word) => word === colour).length -
      words.filter((word) => word === `-${colour}`).length,
  );
  return vector.some((count) => count !== 0) ? vector : COLOURS.map(() => -1);
}

export function colourIndex(
  embeddings: EmbeddingsUnderTest | EmbeddingFunctionUnderTest = new ColourEmbeddings(),
  fields?: string[],
): StoreCaseOptions {
  const index = { dims: ColourEmbeddings.dims, embeddings };
  return { index: fields ? { ...index, fields } : index };
}
