// UMAP away from the page's thread.
import { UMAP } from 'umap-js';

// The same picture for the same points.
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

self.onmessage = (event: MessageEvent<number[][]>) => {
  const points = event.data;
  const umap = new UMAP({
    nComponents: 2,
    nNeighbors: Math.max(2, Math.min(15, points.length - 1)),
    minDist: 0.1,
    random: seeded(1),
  });
  const epochs = umap.initializeFit(points);
  for (let epoch = 0; epoch < epochs; ++epoch) {
    umap.step();
    if (epoch % 20 === 0) self.postMessage({ done: epoch / epochs });
  }
  self.postMessage({ points: umap.getEmbedding() });
};
