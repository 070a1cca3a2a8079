export {
  type Episode,
  Episodes,
  type EpisodesOptions,
  type EpisodeWeights,
  episodes,
  type RecallEpisodesOptions,
  type RecalledEpisode,
} from "./langchain/episodes.js";
export {
  type HumanInTheLoopMiddlewareOptions,
  humanInTheLoopMiddleware,
} from "./langchain/human-in-the-loop.js";
export {
  type FactChanges,
  type FactsToConsolidate,
  type KnownFact,
  type LearnBudget,
  Learner,
  type LearnerOptions,
  type LearnOptions,
  type LearnReport,
  type LearntChange,
  learner,
  type NewFact,
  type TurnMessage,
  type TurnToLearn,
} from "./langchain/learner.js";
export {
  type MemoryMiddleware,
  type MemoryMiddlewareOptions,
  memoryMiddleware,
} from "./langchain/middleware.js";
export {
  type MemoryNode,
  type NodeOptions,
  type RecallNodeOptions,
  type RememberNodeOptions,
  recallNode,
  rememberNode,
  type Selector,
} from "./langchain/nodes.js";
export type { HasStore, PlaceOptions, Run } from "./langchain/place.js";
export type { InjectionPosition, RecallOptions } from "./langchain/recall.js";
export type { Source, Superseded } from "./langchain/remember.js";
export {
  forgetTool,
  type MemoryTool,
  type RecallToolOptions,
  type RememberToolOptions,
  recallTool,
  rememberTool,
  type ToolOptions,
} from "./langchain/tools.js";
export { type Model, ModelWithMemory, withMemory } from "./langchain/with-memory.js";
export type { EntryFormat } from "./prompt/item-text.js";
