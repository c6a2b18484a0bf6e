/** What goes on when a part cannot be shown, such as one whose code did not arrive. */
import { Component, type ReactNode } from 'react';

interface Props {
  /** Instead of the part. */
  fallback: (error: unknown) => ReactNode;
  children: ReactNode;
}

export class Boundary extends Component<Props, { failed?: { error: unknown } }> {
  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  override state: { failed?: { error: unknown } } = {};

  override render() {
    const { failed } = this.state;
    return failed ? this.props.fallback(failed.error) : this.props.children;
  }
}
