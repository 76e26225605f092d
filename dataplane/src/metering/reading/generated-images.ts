/** Images drawn by a tool, at the rates of a model of their own. */
export interface GeneratedImages {
  readonly model: string;
  readonly tokensIn: number;
  /** Part of tokensIn. */
  readonly imageTokensIn: number;
  readonly tokensOut: number;
}
