# Kommentar mit Umlauten: äöü, 中文, 🚀
NAME=${NAME:-"模型[1]"}
python train.py --name "$NAME" --emoji "🚀 ${NAME}" --len ${#NAME} 'é'
