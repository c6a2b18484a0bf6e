/** The console behind the sign-in. A chunk of its own, so that the sign-in page does not load the router. */
import { RouterProvider } from '@tanstack/react-router';
import { createConsoleRouter } from './routes.tsx';

const router = createConsoleRouter();

export function RoutedPages() {
  return <RouterProvider router={router} />;
}
