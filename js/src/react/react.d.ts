// What is used of React, so that it is no dependency: its types are published apart from it.

declare module "react" {
  export function useEffect(effect: () => (() => void) | undefined, dependencies: unknown[]): void;
  export function useState<State>(initial: State): [State, (next: State) => void];
}
