/** The members that response schemas are made of. */
import { type TSchema, Type } from 'typebox';

export const text = () => Type.String();
export const count = () => Type.Integer({ minimum: 0 });
export const some = Type.Optional;
/** Absent, `null`, or a value. */
export const orNull = (schema: TSchema) => some(Type.Union([schema, Type.Null()]));
