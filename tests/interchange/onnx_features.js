// h of raw images by ONNX Runtime.
//   node onnx_features.js MODEL.onnx IMAGES.u8 COUNT CHANNELS HEIGHT WIDTH float|uint8 OUT.f32
const fs = require("fs");
const path = require("path");
const ort = require(path.join(process.env.KINDRED_NODE_MODULES, "onnxruntime-node"));

async function main() {
  const [model, file, count, channels, height, width, kind, out] = process.argv.slice(2);
  const bytes = new Uint8Array(fs.readFileSync(file));
  const shape = [count, channels, height, width].map(Number);
  const images = kind === "uint8"
    ? new ort.Tensor("uint8", bytes, shape)
    : new ort.Tensor("float32", Float32Array.from(bytes, (value) => value / 255), shape);
  const session = await ort.InferenceSession.create(model);
  const { h } = await session.run({ images });
  fs.writeFileSync(out, Buffer.from(h.data.buffer, h.data.byteOffset, h.data.byteLength));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
