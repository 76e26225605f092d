/** What the page can do without: where its file does not come, the rest stays. The banner says that a part is missing. */
import { Component, type ReactNode } from 'react';

interface OptionalState {
  readonly missing: boolean;
}

export class Optional extends Component<{ readonly children: ReactNode }, OptionalState> {
  override state: OptionalState = { missing: false };

  static getDerivedStateFromError(): OptionalState {
    return { missing: true };
  }

  override render(): ReactNode {
    return this.state.missing ? null : this.props.children;
  }
}
