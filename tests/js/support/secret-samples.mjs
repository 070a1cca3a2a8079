// Made-up secrets, as their makers write them, and what only looks like one; in texts as people,
// programs and files write them. A seed makes always the same ones. What a secret is made of is
// said here once more, and not taken from the table that is tested.

import { createHash, createHmac } from "node:crypto";

const DIGITS = "0123456789";
const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const ALNUM = DIGITS + CAPITALS + SMALL;
const HEX = "0123456789abcdef";
const URL64 = `${ALNUM}-_`;
const B64 = `${ALNUM}+/`;

function maker(seed) {
  let state = seed;
  // mulberry32.
  const below = (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % end;
  };
  const of = (chars, count) =>
    Array.from({ length: count }, () => chars[below(chars.length)]).join("");
  const one = (list) => list[below(list.length)];
  const bytes = (count) => Buffer.from(Array.from({ length: count }, () => below(256)));
  const uuid = () => [8, 4, 4, 4, 12].map((count) => of(HEX, count)).join("-");
  return {
    below,
    of,
    one,
    bytes,
    uuid,
    hash: (name) => createHash(name).update(bytes(32)).digest("hex"),
  };
}

const luhn = (digits) =>
  [...digits].reverse().reduce((sum, char, i) => {
    const digit = Number(char) * (i % 2 === 0 ? 2 : 1);
    return sum + (digit > 9 ? digit - 9 : digit);
  }, 0);

function card({ of, one }, begin, size) {
  const digits = one(begin) + of(DIGITS, size);
  const cut = digits.slice(0, size - 1);
  return cut + String((10 - (luhn(cut) % 10)) % 10);
}
const inFours = (digits, sign) => digits.match(/.{4}/g).join(sign);

const lines = (text) => text.match(/.{1,64}/g).join("\n");
function pem({ bytes, one }, newline) {
  const name = one([
    "RSA PRIVATE",
    "PRIVATE",
    "EC PRIVATE",
    "OPENSSH PRIVATE",
    "ENCRYPTED PRIVATE",
  ]);
  const body = lines(bytes(one([118, 1190, 610])).toString("base64")).replaceAll("\n", newline);
  return `-----BEGIN ${name} KEY-----${newline}${body}${newline}-----END ${name} KEY-----`;
}

function webToken({ of, below }) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = encode({ alg: "HS256", typ: "JWT" });
  const body = encode({ sub: of(DIGITS, 10), iat: 1_700_000_000 + below(1e8), scope: "read" });
  const sum = createHmac("sha256", of(ALNUM, 20)).update(`${head}.${body}`).digest("base64url");
  return `${head}.${body}.${sum}`;
}

// Kind, and one of it.
const SECRETS = [
  ["openai key", (m) => `sk-proj-${m.of(URL64, 74)}T3BlbkFJ${m.of(URL64, 74)}`],
  ["openai key", (m) => `sk-${m.of(ALNUM, 20)}T3BlbkFJ${m.of(ALNUM, 20)}`],
  ["anthropic key", (m) => `sk-ant-api03-${m.of(URL64, 93)}AA`],
  ["openrouter key", (m) => `sk-or-v1-${m.of(HEX, 64)}`],
  ["openai key", (m) => `sk-${m.of(HEX, 32)}`],
  ["aws key", (m) => `AKIA${m.of(`${CAPITALS}234567`, 16)}`],
  ["aws key", (m) => `ASIA${m.of(`${CAPITALS}234567`, 16)}`],
  ["github token", (m) => `${m.one(["ghp", "gho", "ghs", "ghu", "ghr"])}_${m.of(ALNUM, 36)}`],
  ["github token", (m) => `github_pat_${m.of(ALNUM, 22)}_${m.of(ALNUM, 59)}`],
  ["gitlab token", (m) => `glpat-${m.of(URL64, 20)}`],
  ["gitlab token", (m) => `glrt-${m.of(URL64, 20)}`],
  ["google key", (m) => `AIza${m.of(URL64, 35)}`],
  ["google key", (m) => `GOCSPX-${m.of(URL64, 28)}`],
  ["slack token", (m) => `xoxb-${m.of(DIGITS, 12)}-${m.of(DIGITS, 13)}-${m.of(ALNUM, 24)}`],
  [
    "slack token",
    (m) => `xoxp-${m.of(DIGITS, 11)}-${m.of(DIGITS, 12)}-${m.of(DIGITS, 12)}-${m.of(HEX, 32)}`,
  ],
  [
    "slack token",
    (m) => `xapp-1-A${m.of(CAPITALS + DIGITS, 10)}-${m.of(DIGITS, 13)}-${m.of(HEX, 64)}`,
  ],
  [
    "slack token",
    (m) =>
      `https://hooks.slack.com/services/T${m.of(CAPITALS + DIGITS, 8)}/B${m.of(CAPITALS + DIGITS, 10)}/${m.of(ALNUM, 24)}`,
  ],
  [
    "stripe key",
    (m) => `${m.one(["sk", "rk"])}_${m.one(["live", "test"])}_${m.of(ALNUM, m.one([24, 99]))}`,
  ],
  ["stripe key", (m) => `whsec_${m.of(ALNUM, 32)}`],
  ["sendgrid key", (m) => `SG.${m.of(URL64, 22)}.${m.of(URL64, 43)}`],
  ["npm token", (m) => `npm_${m.of(ALNUM, 36)}`],
  ["pypi token", (m) => `pypi-AgEIcHlwaS5vcmc${m.of(URL64, 140)}`],
  ["rubygems token", (m) => `rubygems_${m.of(HEX, 48)}`],
  ["hugging face token", (m) => `hf_${m.of(CAPITALS + SMALL, 34)}`],
  ["groq key", (m) => `gsk_${m.of(ALNUM, 52)}`],
  ["perplexity key", (m) => `pplx-${m.of(ALNUM, 48)}`],
  ["replicate token", (m) => `r8_${m.of(ALNUM, 37)}`],
  ["langsmith key", (m) => `lsv2_pt_${m.of(HEX, 32)}_${m.of(HEX, 10)}`],
  ["digitalocean token", (m) => `dop_v1_${m.of(HEX, 64)}`],
  ["databricks token", (m) => `dapi${m.of(HEX, 32)}`],
  ["doppler token", (m) => `dp.pt.${m.of(ALNUM, 43)}`],
  ["grafana token", (m) => `glsa_${m.of(ALNUM, 32)}_${m.of(HEX, 8)}`],
  ["linear key", (m) => `lin_api_${m.of(ALNUM, 40)}`],
  ["new relic key", (m) => `NRAK-${m.of(CAPITALS + DIGITS, 27)}`],
  ["notion token", (m) => `ntn_${m.of(DIGITS, 11)}${m.of(ALNUM, 35)}`],
  ["planetscale token", (m) => `pscale_tkn_${m.of(URL64, 43)}`],
  ["postman key", (m) => `PMAK-${m.of(HEX, 24)}-${m.of(HEX, 34)}`],
  ["pulumi token", (m) => `pul-${m.of(HEX, 40)}`],
  ["brevo key", (m) => `xkeysib-${m.of(HEX, 64)}-${m.of(ALNUM, 16)}`],
  ["sentry token", (m) => `sntryu_${m.of(HEX, 64)}`],
  ["shopify token", (m) => `shpat_${m.of(HEX, 32)}`],
  ["sourcegraph token", (m) => `sgp_${m.of(HEX, 16)}_${m.of(HEX, 40)}`],
  ["square token", (m) => `sq0atp-${m.of(URL64, 22)}`],
  ["telegram token", (m) => `${m.of("123456789", 10)}:AA${m.of(URL64, 33)}`],
  [
    "telegram token",
    (m) => `https://api.telegram.org/bot${m.of("123456789", 9)}:AA${m.of(URL64, 33)}/getMe`,
  ],
  ["typeform token", (m) => `tfp_${m.of(ALNUM, 44)}_${m.of(ALNUM, 14)}`],
  ["vault token", (m) => `hvs.${m.of(URL64, 91)}`],
  ["atlassian token", (m) => `ATATT3${m.of(URL64, 186)}`],
  ["json web token", (m) => webToken(m)],
  ["json web token", (m) => `Authorization: Bearer ${webToken(m)}`],
  ["bearer token", (m) => `Authorization: Bearer ${m.of(ALNUM, 40)}`],
  [
    "basic credentials",
    (m) => `Authorization: Basic ${Buffer.from(`ada:${m.of(ALNUM, 12)}`).toString("base64")}`,
  ],
  ["password in a url", (m) => `postgres://app:${m.of(ALNUM, 14)}@db.internal:5432/shop`],
  ["password in a url", (m) => `redis://:${m.of(ALNUM, 20)}@cache.internal:6379`],
  [
    "password in a url",
    (m) =>
      `mongodb+srv://root:${m.one(["Tr0ub4dor&3", "correct-horse", "s3cr3t!pw", "pa$$w0rd99"])}@cluster0.mongodb.net/x`,
  ],
  ["private key", (m) => pem(m, "\n")],
  ["private key", (m) => pem(m, "\\n")],
  ["secret key", (m) => `AWS_SECRET_ACCESS_KEY=${m.of(B64, 40)}`],
  ["secret key", (m) => `"client_secret": "${m.of(URL64, 40)}"`],
  ["secret key", (m) => `api_key: ${m.of(HEX, 32)}`],
  ["secret key", (m) => `const apiKey = "${m.of(ALNUM, 32)}";`],
  ["secret key", (m) => `AccountKey=${m.bytes(64).toString("base64")}`],
  ["card number", (m) => `card ${inFours(card(m, ["4", "51", "55", "6011"], 16), " ")}`],
  ["card number", (m) => `${inFours(card(m, ["4", "52"], 16), "-")}, exp. 12/29`],
  ["card number", (m) => `Visa: ${card(m, ["4"], 16)}`],
  ["card number", (m) => `Amex ${card(m, ["34", "37"], 15).replace(/(.{4})(.{6})/, "$1 $2 ")}`],
  ["card number", (m) => `Kreditkarte ${card(m, ["51", "55", "4"], 16)}`],
];

// Texts that may have a secret or none, for the half that rules were chosen with, and the other.
const AROUND = [
  [
    (text) => `Please use ${text} for the staging server.`,
    (text) => `Mein Schlüssel ist: ${text}\nBitte nicht weitergeben.`,
    (text) => `# .env\nDEBUG=1\nKEY=${text}\nPORT=8080\n`,
    (text) => `it is \`${text}\`, I think`,
    (text) => text,
  ],
  [
    (text) => `Hey, could you remember that I log in with ${text}? Thanks!`,
    (text) => `その鍵は「${text}」です。`,
    (text) => `export SOMETHING='${text}' # do not commit`,
    (text) => `services:\n  web:\n    environment:\n      - VALUE=${text}\n`,
    (text) => `(${text})`,
  ],
];

const LOOK_ALIKES = [
  (m) => `order ${m.of("123456789", 1)}${m.of(DIGITS, 15)} was sent`,
  (m) => `Bestellung 4${m.of(DIGITS, 15)}`,
  (m) => `order 4${m.of(DIGITS, 3)} ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)}`,
  (m) => `n = ${m.of("23456", 1)}${m.of(DIGITS, 15)}`,
  (m) => `invoice ${card(m, ["4", "51"], 16)} is paid`,
  (m) => `request ${m.uuid()} failed`,
  (m) => `token: ${m.uuid()}`,
  (m) => `session_id=${m.uuid()}`,
  (m) => `commit ${m.hash("sha1")}`,
  (m) => `sha256:${m.hash("sha256")}`,
  (m) => `md5 ${m.hash("md5")} *file.iso`,
  (m) => `ETag: "${m.hash("md5")}"`,
  (m) => `cache-key-${m.hash("md5")}`,
  (m) => `"integrity": "sha512-${m.bytes(64).toString("base64")}"`,
  (m) => `![a dot](data:image/png;base64,iVBORw0KGgo${m.bytes(300).toString("base64")})`,
  (m) => `call +49 170 ${m.of(DIGITS, 7)} or (555) ${m.of(DIGITS, 3)}-${m.of(DIGITS, 4)}`,
  (m) => `IBAN DE89 3704 ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)} 00`,
  (m) => `IBAN NL91 ABNA 0417 ${m.of(DIGITS, 4)} 00`,
  (m) => `ISBN 978-3-16-${m.of(DIGITS, 6)}-0 and EAN 4${m.of(DIGITS, 12)}`,
  (m) => `tracking 1Z${m.of(CAPITALS + DIGITS, 16)}`,
  (m) => `Sendungsnummer 3456 ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)} ${m.of(DIGITS, 4)}`,
  (m) =>
    `at ${1_700_000_000_000 + m.below(1e10)}, that is ${1_700_000_000_000_000 + m.below(1e10)} µs`,
  (m) =>
    `{"id":${m.of("123456789", 1)}${m.of(DIGITS, 15)},"n":[${m.of("45", 1)}${m.of(DIGITS, 14)}]}`,
  (m) => `0x${m.of(HEX, 40)} sent 0x${m.of(HEX, 64)}`,
  (m) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${m.of(B64, 43)} ada@laptop`,
  (m) =>
    `-----BEGIN PUBLIC KEY-----\n${lines(m.bytes(160).toString("base64"))}\n-----END PUBLIC KEY-----`,
  (m) =>
    `-----BEGIN CERTIFICATE-----\n${lines(m.bytes(600).toString("base64"))}\n-----END CERTIFICATE-----`,
  (m) =>
    `A file of ours begins with -----BEGIN ${m.one(["RSA ", "EC ", ""])}PRIVATE KEY----- and I never paste what follows it.`,
  () => "PEM: -----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  (m) =>
    `api_key=${m.one(["YOUR_API_KEY_GOES_HERE", "<your-api-key>", "$API_KEY", "xxxxxxxxxxxxxxxxxxxxxxxx", "process.env.API_KEY"])}`,
  (m) =>
    `export OPENAI_API_KEY=sk-${m.one(["your-key-here-please-replace-it-soon", "...", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"])}`,
  (m) =>
    `postgres://user:${m.one(["password", `\${DB_PASS}`, "<password>", "****", "$PASS"])}@localhost:5432/db`,
  (m) => `https://example.com:8080/${m.of(ALNUM, 12)} and ada@example.com`,
  (m) => `arn:aws:iam::${m.of(DIGITS, 12)}:role/reader, AKIA is how its keys begin`,
  (m) =>
    `pk_live_${m.of(ALNUM, 24)} is public, and so are cus_${m.of(ALNUM, 14)}, pi_3${m.of(ALNUM, 23)}`,
  (m) =>
    `class ${m.one(["sk-folding-cube-spinner-animation-of-2026", "sk-circle-fade-dot", "task-sk-Mixed-Name-2026-of-a-branch"])} {}`,
  (m) => `branch ${m.one(["feature", "fix"])}/ghp_${m.of(SMALL, 8)}-${m.below(1000)}`,
  (m) => `npm_config_${m.of(SMALL, 12)} and hf_hub_${m.of(SMALL, 10)}`,
  (m) => `https://youtu.be/${m.of(URL64, 11)}?si=${m.of(URL64, 16)}`,
  (m) => `place ChIJ${m.of(URL64, 23)}, object ${m.of(HEX, 24)}, nanoid ${m.of(URL64, 21)}`,
  (m) => `nextPageToken = "${m.of(URL64, 40)}"`,
  (m) => `Set-Cookie: theme=dark; id=${m.of(ALNUM, 26)}`,
  (m) =>
    m.one([
      "The Bearer of good news came from far away. An API key is a secret; never share yours.",
      "Das Passwort hat sie vergessen, der Schlüssel liegt unter der Matte.",
      "La clé d'API et le mot de passe sont dans le coffre.",
      "パスワードは教えません。トークンの期限は明日です。",
      "Её пароль никто не знает, и ключ тоже.",
      "La tarjeta de crédito caduca en 2029, y la contraseña es larga.",
    ]),
  (m) =>
    `let total = ${m.of("4", 1)}${m.of(DIGITS, 3)}_${m.of(DIGITS, 4)} * ${m.of(DIGITS, 8)}; // secretKey(total)`,
  (m) => `pi is 3.14159265358979${m.of(DIGITS, 20)}`,
  (m) => `fe80::${m.of(HEX, 4)}:${m.of(HEX, 4)} 00:1b:44:11:3a:b7 v1.0-${m.of(HEX, 7)}`,
  (m) => `serial 5${m.of(DIGITS, 3)}-${m.of(DIGITS, 4)}-${m.of(DIGITS, 4)}-${m.of(DIGITS, 4)}`,
  (m) =>
    `Authorization: Bearer ${m.one(["<token>", "$TOKEN", "{{token}}", "YOUR_ACCESS_TOKEN_GOES_HERE"])}`,
];

/** Of a half: 0 is what the rules were chosen with, 1 is held out. */
export function samplesOf(half) {
  const m = maker(1061 + half);
  const around = AROUND[half];
  const repeated = (list, times) => Array.from({ length: times }, () => list).flat();
  return {
    secrets: repeated(SECRETS, 2).map(([kind, make]) => {
      const secret = make(m);
      return { kind, secret, text: m.one(around)(secret) };
    }),
    lookAlikes: repeated(LOOK_ALIKES, 5).map((make) => m.one(around)(make(m))),
  };
}
