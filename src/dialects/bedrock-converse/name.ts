/** The format's name, as other rooms know it. */
export const BEDROCK_CONVERSE = 'bedrock-converse';
