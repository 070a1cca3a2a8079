// What an agent gains end to end: how many questions about long conversations a reader answers, when
// it is given 2,000 tokens of them by Keepsake, by plain BM25, by FTS5, by vectors alone; the
// evidence; all of it; or nothing. README.md says more, `--help` all options.
//
//   node bench/answers.mjs --locomo=locomo10.json --model=gpt-4o-mini --out=build/answers
//   node bench/answers.mjs --longmemeval=longmemeval_s_cleaned.json --model=gpt-4o-mini --dry-run
//   node bench/answers.mjs --beam=BEAM/chats/100K --reader=extractive

import { answers } from "./answers/run.mjs";

process.exitCode = await answers(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  env: process.env,
});
