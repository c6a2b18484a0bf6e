/** Custom properties in the style object: `style={{ '--p': '40%' }}`. React sets them through the DOM, which the CSP permits. */
import 'react';

declare module 'react' {
  interface CSSProperties {
    [name: `--${string}`]: string | number | undefined;
  }
}
