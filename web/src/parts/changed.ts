/** The members of a form that the person has changed: what another tab or person has set meanwhile stays, such as a lower budget. */
export function changedOf<Body extends object>(body: Body, shown: Body): Partial<Body> {
  const isSame = (name: string) =>
    JSON.stringify(body[name as keyof Body]) === JSON.stringify(shown[name as keyof Body]);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isSame(name))) as Partial<Body>;
}
