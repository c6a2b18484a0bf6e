/** Converts schemas to OpenAPI 3.1: notes become descriptions, named schemas become components. */
import type { TSchema } from 'typebox';
import { nodeOf, type SchemaNode } from '../../dialects/shared/request-shape.ts';
import { memberText } from './member-texts.ts';

type OpenapiSchema = { [keyword: string]: unknown };

/** Keywords that are copied unchanged. */
const PLAIN = [
  ...['type', 'const', 'enum', 'format', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'additionalProperties'],
] as const;

/** The pattern of `Type.Record(Type.String(), …)`. */
const EVERY_NAME = '^.*$';

const reference = (name: string): OpenapiSchema => ({ $ref: `#/components/schemas/${name}` });

export class OpenapiSchemas {
  readonly components: { [name: string]: OpenapiSchema } = {};

  write(schema: TSchema): OpenapiSchema {
    return this.#node(nodeOf(schema));
  }

  #node(node: SchemaNode, about?: string): OpenapiSchema {
    const description = about ?? sentenceOf(node);
    if (node.$name === undefined) return this.#inner(node, description);
    if (!(node.$name in this.components)) {
      const component: OpenapiSchema = {};
      // Set before its content is written, because a schema may contain itself.
      this.components[node.$name] = component;
      Object.assign(component, this.#inner(node, description));
      this.#nameAlternatives(node.$name, component);
    }
    return reference(node.$name);
  }

  /**
   * Alternatives with a `type` become components of their own: `ChatContentPartText`. Without names a generator of clients invents its own,
   * and openapi-python-client leaves the whole alternative out.
   */
  #nameAlternatives(name: string, component: OpenapiSchema): void {
    if (!Array.isArray(component.anyOf)) return;
    component.anyOf = (component.anyOf as OpenapiSchema[]).map((alternative) => {
      const { type } = (alternative.properties ?? {}) as { type?: { const?: unknown } };
      if (typeof type?.const !== 'string') return alternative;
      const its =
        name + type.const.replace(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
      this.components[its] = alternative;
      return reference(its);
    });
  }

  #inner(node: SchemaNode, about: string | undefined): OpenapiSchema {
    const described = about === undefined ? {} : { description: about };
    if (node.$inside) return { ...this.#node(nodeOf(node.$inside())), ...described };
    if (node.$types) return { ...this.#byType(node), ...described };
    if (node.anyOf) return { ...this.#choice(node.anyOf), ...this.#plain(node), ...described };
    const written: OpenapiSchema = { ...this.#plain(node), ...described };
    if (node.items) written.items = this.#node(node.items);
    // Generators of clients know `additionalProperties`, most of them no patterns.
    const { [EVERY_NAME]: values, ...patterns } = node.patternProperties ?? {};
    if (Object.keys(patterns).length > 0) throw new Error(`${about}: a pattern of names cannot be written yet.`);
    if (values) written.additionalProperties = this.#node(values);
    const members = Object.entries(node.properties ?? {}).filter(([, inner]) => !inner.$spelling);
    if (members.length > 0) {
      written.properties = Object.fromEntries(members.map(([name, inner]) => [name, this.#member(name, inner)]));
      const { required = [] } = node;
      if (required.length > 0) written.required = [...required];
    }
    return written;
  }

  #member(name: string, node: SchemaNode): OpenapiSchema {
    const written = this.#node(node);
    const text = memberText(name);
    const isExplained = [node, ...(node.anyOf ?? [])].some(({ $about }) => $about !== undefined);
    if (text === undefined || isExplained || typeof written.description !== 'string') return written;
    return { ...written, description: `${text} ${written.description}` };
  }

  #plain(node: SchemaNode): OpenapiSchema {
    const keywords = node as OpenapiSchema;
    const written: OpenapiSchema = {};
    for (const keyword of PLAIN) if (keywords[keyword] !== undefined) written[keyword] = keywords[keyword];
    const { maximum, pattern } = keywords;
    if (maximum === Number.MAX_SAFE_INTEGER) delete written.maximum;
    if (pattern !== undefined) written.pattern = pattern instanceof RegExp ? pattern.source : pattern;
    return written;
  }

  /** A choice of constants becomes an enumeration; a choice with null becomes a second type. */
  #choice(choices: readonly SchemaNode[]): OpenapiSchema {
    const [first, ...others] = choices;
    if (first && others.length === 0) return this.#node(first);
    if (choices.every(({ const: value }) => value !== undefined)) {
      return { type: 'string', enum: choices.map(({ const: value }) => value) };
    }
    const [second] = others;
    if (first && second?.type === 'null' && others.length === 1) {
      const written = this.#node(first);
      if (typeof written.type === 'string' && written.enum === undefined)
        return { ...written, type: [written.type, 'null'] };
      if (Array.isArray(written.enum)) return { ...written, type: ['string', 'null'], enum: [...written.enum, null] };
      return { anyOf: [written, { type: 'null' }] };
    }
    return { anyOf: choices.map((choice) => this.#node(choice)) };
  }

  #byType({ $types, $otherwise, $others }: SchemaNode): OpenapiSchema {
    const variants = Object.entries($types?.() ?? {}).map(([type, schema]) => {
      const written = this.#inner(nodeOf(schema), undefined);
      const required = [
        ...(type === $otherwise ? [] : ['type']),
        ...((written.required as string[] | undefined) ?? []),
      ];
      return {
        ...written,
        type: 'object',
        properties: { type: { type: 'string', const: type }, ...(written.properties as OpenapiSchema | undefined) },
        ...(required.length > 0 && { required: [...new Set(required)] }),
      };
    });
    if (!$others) return { anyOf: variants };
    const other = {
      type: 'object',
      description: 'Another type: passed unchanged to providers of the same format.',
      properties: { type: { type: 'string' } },
      additionalProperties: true,
    };
    return { anyOf: [...variants, other] };
  }
}

/**
 * Descriptions follow "must be". Defaults are written as words: generators of clients make a member with the `default` keyword required.
 */
function sentenceOf({ $about, description, default: usual }: SchemaNode): string | undefined {
  const explanation = $about ?? (description === undefined ? undefined : sentence(description));
  if (usual === undefined) return explanation;
  return [...(explanation === undefined ? [] : [explanation]), `Default: \`${usual}\`.`].join(' ');
}

function sentence(description: string): string {
  const text = description.charAt(0).toUpperCase() + description.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
