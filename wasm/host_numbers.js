// What the JSON reader imports: a number of JSON as JavaScript reads it, correctly rounded.
addToLibrary({
  keepsake_parse_double: (text, size) => {
    let number = "";
    for (const end = text + size; text < end; text++) number += String.fromCharCode(HEAPU8[text]);
    return Number(number);
  },
});
