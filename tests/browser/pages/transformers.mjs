// In the place of @huggingface/transformers, which takes 475 MB: a model that arrives when the test
// says so, and is strict about what it is asked with.

const CONCEPTS = [/dog|animal|cat/, /tea|drink/];

export async function pipeline(task, model, options) {
  const asked = JSON.stringify([task, model, options]);
  if (asked !== '["feature-extraction","Xenova/all-MiniLM-L6-v2",{"dtype":"q8"}]') {
    throw new Error(`the pipeline was asked for ${asked}`);
  }
  await new Promise((resolve, reject) => {
    globalThis.arrive = (error) => (error ? reject(new Error(error)) : resolve());
  });
  return async (texts, how) => {
    if (!Array.isArray(texts) || JSON.stringify(how) !== '{"pooling":"mean","normalize":true}') {
      throw new Error(`it was asked with ${JSON.stringify([texts, how])}`);
    }
    return { tolist: () => texts.map(vectorOf) };
  };
}

function vectorOf(text) {
  const vector = Array.from({ length: 384 }, (_, i) => Number(CONCEPTS[i]?.test(text) ?? 0.001));
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}
