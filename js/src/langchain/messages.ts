// Where text is put among messages. None of these changes a message, or the list it is given.

import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { lastOfUser, type Recalled, type Recaller } from "./recall.js";

/** With the text as a message just before the user's last one, or at the end. */
export function besideUser(messages: BaseMessage[], text: string): BaseMessage[] {
  if (text === "") return messages;
  const at = lastOfUser(messages);
  return messages.toSpliced(at < 0 ? messages.length : at, 0, new HumanMessage(text));
}

/** With system messages before and after those that the list begins with. */
export function arranged(
  messages: BaseMessage[],
  { pinned, recalled }: Recalled,
  position: Recaller["position"],
): BaseMessage[] {
  const body = position === "before_user" ? besideUser(messages, recalled) : messages;
  const firstOther = body.findIndex((message) => message.type !== "system");
  const after = firstOther < 0 ? body.length : firstOther;
  const system = (text: string) => (text === "" ? [] : [new SystemMessage(text)]);
  return [
    ...system(position === "before_system" ? recalled : ""),
    ...body.slice(0, after),
    ...system(pinned),
    ...system(position === "after_system" ? recalled : ""),
    ...body.slice(after),
  ];
}
