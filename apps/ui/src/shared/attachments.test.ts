import fc from "fast-check";
import { expect, test } from "vitest";
import { splitAttachments, withAttachments } from "./attachments";

test("what goes into a message comes out of it again", () => {
  const text = fc.string().map((raw) => raw.replace(/\[attached/g, "").trim());
  const name = fc.string({ minLength: 1 }).map((raw) => raw.replace(/\s+/g, " "));
  const attachment = fc.record({ name, text: fc.string({ unit: fc.constantFrom("a", "\n", "[", " ") }) });
  fc.assert(
    fc.property(text, fc.array(attachment, { maxLength: 3 }), (said, attachments) => {
      fc.pre(!said.includes("\r"));
      expect(splitAttachments(withAttachments(said, attachments))).toEqual({ text: said, attachments });
    }),
  );
});

test("words that only look like an attachment stay words", () => {
  const said = "[attached: notes, 9 lines]\nonly one";
  expect(splitAttachments(said)).toEqual({ text: said, attachments: [] });
});
