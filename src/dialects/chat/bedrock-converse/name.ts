/** The format's name, as other modules know it. */
export const BEDROCK_CONVERSE = 'bedrock-converse';
