/** Prices of images and videos by size and quality. */
import type { Call } from '../../canonical/call.ts';
import { writePixels } from '../../canonical/image-size.ts';
import type { Money } from '../../canonical/money.ts';
import type { PiecePrice } from '../../canonical/price.ts';

/** A generated image or video, by its requested size and quality. */
export interface Piece {
  size?: string;
  quality?: string;
}

/** Properties of the images that a call requests. */
export function askedPiece(call: Call): Piece {
  if (call.kind === 'chat') return call.image?.size === undefined ? {} : { size: call.image.size };
  if (call.kind !== 'image') return {};
  const { pixels, fineness } = call.size;
  const size = pixels ? writePixels(pixels) : fineness;
  const hasQuality = call.quality !== undefined && call.quality !== 'auto';
  return { ...(size !== undefined && { size }), ...(hasQuality && { quality: call.quality }) };
}

/** The highest possible price of an image whose size or quality is not stated. */
export function highestPiece(prices: readonly PiecePrice[] = [], other: Money | undefined, piece: Piece): Money {
  const mayBe = (priced: string | undefined, asked: string | undefined) =>
    priced === undefined || asked === undefined || priced === asked;
  const possible = prices.filter(({ size, quality }) => mayBe(size, piece.size) && mayBe(quality, piece.quality));
  return possible.reduce((most, { price }) => (price > most ? price : most), pricePiece(prices, other, piece));
}

/**
 * The price of an image or video. A row with size and quality has precedence over size alone, and that over quality alone. Without a
 * matching row `other` applies; without `other`, the most expensive row: nothing is free by mistake.
 */
export function pricePiece(prices: readonly PiecePrice[] | undefined, other: Money | undefined, piece: Piece): Money {
  let best: PiecePrice | undefined;
  let highest = 0n;
  for (const one of prices ?? []) {
    if (one.price > highest) highest = one.price;
    const fits = (one.size ?? piece.size) === piece.size && (one.quality ?? piece.quality) === piece.quality;
    if (fits && (!best || weight(one) > weight(best))) best = one;
  }
  return best?.price ?? other ?? highest;
}

const weight = ({ size, quality }: PiecePrice) => (size === undefined ? 0 : 2) + (quality === undefined ? 0 : 1);
