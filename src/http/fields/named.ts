/** Schemas with a name of their own. */
import { type TProperties, Type } from 'typebox';

/** A schema that the OpenAPI document shows under its own name, so that generated clients have a type for it. */
export const named = <P extends TProperties>($name: string, properties: P) => Type.Object(properties, { $name });
