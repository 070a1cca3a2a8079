// The two things that are faked: time, and embeddings.

import type { EmbeddingsUnderTest, StoreCaseOptions } from "./types.js";

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
  /** What texts are answered with: a case may break it. */
  answer = async (texts: string[]): Promise<number[][]> => texts.map(colourVector);

  async embedDocuments(texts: string[]): Promise<number[][]> {
    this.documentCalls.push([...texts]);
    return this.answer(texts);
  }

  async embedQuery(text: string): Promise<number[]> {
    this.queryCalls.push(text);
    return (await this.answer([text]))[0] as number[];
  }

  /** A store's index with this model. */
  index(fields?: string[]): NonNullable<StoreCaseOptions["index"]> {
    return { dims: ColourEmbeddings.dims, embeddings: this, ...(fields && { fields }) };
  }
}

function colourVector(text: string): number[] {
  const words = text.match(/-?[a-z]+/g) ?? [];
  const vector = COLOURS.map(
    (colour) =>
      words.filter((word) => word === colour).length -
      words.filter((word) => word === `-${colour}`).length,
  );
  return vector.some((count) => count !== 0) ? vector : COLOURS.map(() => -1);
}
